"""Safe upper bounds, and the engine that reports the least of them."""
