"""Notices to admins: in the site, by mail and by signed webhook."""
