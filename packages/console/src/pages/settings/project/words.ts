import { counted } from '../../../words.ts';

export const text = {
  name: 'Name',
  nameText: 'What the project is called everywhere. Programs never see it: they know the key.',
  nameOfProject: 'What the project is called everywhere. Its first environment is renamed with it.',
  environmentName: 'Name of this environment',
  environmentNameText: (project: string) => `What it is called within ${project}.`,

  key: 'Project key',
  keyText: 'With it programs and pages send events and ask for flags. It is public: it reads nothing back.',
  reset: 'Replace the key',
  resetTitle: 'Replace the project key?',
  resetText:
    'Every page, app and server that sends with the present key is refused within a second, until it has the new one. What was taken with it stays. There is no way back to the present key.',
  wasReset: 'This is the new key. Put it into your programs.',

  secretKey: 'Secret key',
  secretKeyText:
    'With it servers read the definitions of flags, to decide them by themselves. Keep it on servers: no page and no app may have it.',
  noSecretKey: 'There is none yet.',
  present: 'In use',
  former: 'Former one, still valid',
  makeSecret: 'Make a secret key',
  rotate: 'Rotate',
  rotateTitle: 'Make another secret key?',
  rotateText:
    'The present one stays valid as the former one, so that servers can change over. A former one that is there now stops working at once.',
  made: 'The new secret key',
  removeFormer: 'Remove the former one',
  removeFormerTitle: 'Remove the former secret key?',
  removeFormerText: 'Servers that still use it cannot read definitions of flags from then on.',

  send: 'Send events',
  sendText: 'The key and the address are filled in. An existing PostHog SDK works too: change its host only.',

  places: 'Environments and projects',
  placesText:
    'A project has one or several environments, like production and staging. Each has its own key, events, persons and settings.',
  columns: { project: 'Project', environment: 'Environment', zone: 'Time zone', id: 'Id' },
  here: 'this one',
  newEnvironment: 'New environment',
  newEnvironmentText: (project: string) => `Another environment of ${project}, empty and with a key of its own.`,
  newProject: 'New project',
  newProjectText: 'A project with a first environment, empty and with a key of its own.',

  remove: 'Delete',
  removeEnvironment: 'Delete this environment',
  removeProject: 'Delete this project',
  removeText: 'Ends it for everybody. Nothing of it can be brought back.',
  removeEnvironmentTitle: (name: string) => `Delete the environment ${name}?`,
  removeProjectTitle: (name: string) => `Delete the project ${name}?`,
  removeWhat: (environments: number) =>
    `Its key stops working at once: programs that send with it are refused. ${
      environments > 1 ? `All ${counted(environments, 'environment')} of it go. ` : ''
    }Flags, cohorts, subscriptions and exports go at once; events and persons are removed in the background. This cannot be undone.`,
  typeName: 'Type the name to go on',
};
