"""What is installed, how it is loaded, and how calls into it are kept from taking the tool down."""
