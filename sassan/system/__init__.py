"""What is asked of the operating system: processes to start, files to read, folders to trust.

Whatever else asks it by itself is known by name, with the reason: `tests/unit/system/test_places.py`.
"""
