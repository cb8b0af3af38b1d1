/** Interface text about sending events, which is used on the Live page and in the settings. */
export const text = {
  library: 'Library',
  fromTerminal: 'From a terminal:',
  orWithout: 'Or without a terminal:',
  sendTest: 'Send a test event',
  testSent: 'A test event is on its way.',
};
