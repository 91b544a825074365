"""One page of HTML for many functions: plain data made here, drawn in the browser by the script that the page carries."""
