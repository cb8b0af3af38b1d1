import { formatCount } from '../../../words.ts';

export const text = {
  name: 'Name',
  nameText: 'The project name, as shown everywhere. SDKs use the project API key, not the name.',
  nameOfProject: 'The project name, as shown everywhere. Renaming the project also renames its first environment.',
  environmentName: 'Environment name',
  environmentNameText: (project: string) => `This environment’s name within ${project}.`,

  key: 'Project API key',
  keyText:
    'SDKs use this key to send events and to evaluate flags. It is safe to publish, because it cannot read your data.',
  reset: 'Reset key',
  resetTitle: 'Reset the project API key?',
  resetText:
    'Within a second, requests that use the current key are rejected. Pages, apps and servers work again after you update them with the new key. Events that were already accepted are kept. You cannot restore the current key.',
  wasReset: 'This is your new key. Update your pages, apps and servers to use it.',

  secretKey: 'Secret key',
  secretKeyText:
    'Servers use this key to read flag definitions, so that they can evaluate flags locally. Keep it on your servers, and never put it into a page or an app.',
  noSecretKey: 'No secret key yet.',
  present: 'Current key',
  former: 'Previous key, still valid',
  makeSecret: 'Create secret key',
  rotate: 'Rotate',
  rotateTitle: 'Rotate the secret key?',
  rotateText:
    'A new key is created. The current key becomes the previous key and keeps working, so that you can update your servers. If a previous key already exists, it stops working immediately.',
  made: 'New secret key',
  removeFormer: 'Delete previous key',
  removeFormerTitle: 'Delete the previous secret key?',
  removeFormerText: 'Servers that still use this key will no longer be able to read flag definitions.',

  send: 'Send events',
  sendText:
    'The key and the host are already filled in. If your code uses a PostHog SDK, you only need to change its host and its key.',

  places: 'Projects and environments',
  placesText:
    'A project has one or more environments, such as production and staging. Each environment has its own key, events, persons and settings.',
  columns: { project: 'Project', environment: 'Environment', zone: 'Time zone', id: 'ID' },
  here: 'current',
  newEnvironment: 'New environment',
  newEnvironmentText: (project: string) => `Creates an empty environment in ${project} with its own key.`,
  newProject: 'New project',
  newProjectText: 'Creates an empty project with one environment and a project API key.',

  remove: 'Delete',
  removeText: 'Deletes the project or environment for everyone. This cannot be undone.',
  removeEnvironment: 'Delete this environment',
  removeProject: 'Delete this project',
  removeEnvironmentTitle: (name: string) => `Delete the environment ${name}?`,
  removeProjectTitle: (name: string) => `Delete the project ${name}?`,
  removeWhat: (environments: number) =>
    `${
      environments > 1
        ? `All ${formatCount(environments, 'environment')} are deleted. Their keys stop working immediately, and requests that use them are rejected.`
        : 'Its key stops working immediately, and requests that use it are rejected.'
    } Flags, cohorts, subscriptions and exports are deleted immediately. Events and persons are deleted in the background. This cannot be undone.`,
  typeName: 'Type the name to continue',
};
