// Every service that a test starts loads this file. If the test run is killed, the service exits too.
process.on('disconnect', () => process.exit(1));
