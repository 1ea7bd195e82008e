"""The files of a release: tables with their columns, the layout, the manifest, the archive."""
