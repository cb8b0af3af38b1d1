/** How events are sent: where the first is waited for, and in the settings. */
export const text = {
  library: 'Library',
  fromTerminal: 'From a terminal:',
  orWithout: 'or without one:',
  sendTest: 'Send a test event',
  testSent: 'A test event is on its way.',
};
