"""What a bound takes for granted of a GPU, measured on the board that is deployed: a program for it, and its answers as a GPU file."""
