export const text = {
  waiting: 'Waiting for the first event',
  waitingText: 'This page turns over by itself as soon as one arrives.',
  snippetTitle: 'Put the snippet into your program',
  snippetText: 'Your project’s key is filled in. An existing PostHog SDK works too: change its host only.',
  library: 'Library',
  sendTitle: 'or send one now',
  fromTerminal: 'From a terminal:',
  orWithout: 'or without one:',
  sendTest: 'Send a test event',
  testSent: 'A test event is on its way.',
  nothingTitle: 'Nothing after a minute?',
  nothing: 'The key belongs to another project, an ad blocker stops array.js, or the page’s policy forbids the host.',
};
