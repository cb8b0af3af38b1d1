// Loaded into every service a test starts: a test run that is killed leaves no service behind.
process.on('disconnect', () => process.exit(1));
