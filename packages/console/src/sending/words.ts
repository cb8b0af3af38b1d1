/** Texts about sending events, for the page before the first event and for the settings. */
export const text = {
  library: 'Library',
  fromTerminal: 'From a terminal:',
  orWithout: 'Or without a terminal:',
  sendTest: 'Send a test event',
  testSent: 'A test event is on its way.',
};
