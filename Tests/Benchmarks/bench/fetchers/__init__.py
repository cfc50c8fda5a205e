"""Programs that fetch a list of URLs with other libraries: `PROGRAM LIST CONNECTIONS` prints the seconds it took.

They read every body and keep none, so they do less than the server does.
"""
