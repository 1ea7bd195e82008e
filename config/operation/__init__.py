"""Operating a site: health, metrics, mail, reports of errors."""
