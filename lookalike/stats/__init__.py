"""Statistics that know no pool: rank agreement, bootstrap over queries, paired tests, intervals."""
