// Placeholder so that the manifest resolves.
