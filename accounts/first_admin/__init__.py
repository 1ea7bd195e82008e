"""How a site gets its first admin: by a link that works once, or on the machine itself."""
