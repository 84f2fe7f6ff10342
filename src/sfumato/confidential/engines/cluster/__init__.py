"""Cluster: tables that stay in a cluster of Spark; equal records are counted there, and only the counts come here."""
