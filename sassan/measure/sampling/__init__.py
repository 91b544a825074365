"""Taking samples on a GPU: the kernel, the device, the order of the runs."""
