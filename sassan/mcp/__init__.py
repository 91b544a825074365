"""A server of the Model Context Protocol: estimates, bounds and explanations for programs that write kernels."""
