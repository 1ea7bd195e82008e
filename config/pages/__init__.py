"""The site's own pages: overview, audit log, navigation, refusals."""
