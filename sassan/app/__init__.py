"""The application layer: requests in, results, documents and drawings out; it composes the packages below and prints nothing."""
