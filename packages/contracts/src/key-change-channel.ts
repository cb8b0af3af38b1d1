/**
 * Channel of the key-value store on which changes of project API keys are announced, so that gateways forget what they
 * cached. The message is the key that changed, or `allProjectKeys`.
 */
export const projectKeyChannel = 'project-keys';

/** Message on `projectKeyChannel`: forget every cached key, e.g. because a plan changed. */
export const allProjectKeys = '*';
