// This file is loaded into every service that a test starts. If the test run is killed, the service exits too.
process.on('disconnect', () => process.exit(1));
