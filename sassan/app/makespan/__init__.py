"""The makespan of warps on one SM: instances from strings and functions, searches, answers, documents."""
