"""The generators of the types and tables of the clients from protocol/openrpc.json; see generate.py."""
