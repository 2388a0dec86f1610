"""What MkDocs needs to build the site of the documentation."""
