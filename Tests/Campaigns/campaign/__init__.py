"""What the campaigns share: pictures that tell what they are, servers, the oracle of what may be served."""
