// Makes a service exit if the test run is killed. Every service that a test starts loads this file.
process.on('disconnect', () => process.exit(1));
