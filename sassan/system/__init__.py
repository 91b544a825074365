"""What is asked of the operating system: processes to start, files to read, folders to trust. The only place for each of them."""
