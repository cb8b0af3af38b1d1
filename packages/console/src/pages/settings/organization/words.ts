export const text = {
  nameText: 'What the organization is called in mails, invites and the list of projects.',
  mails: 'Mails',
  joined: 'Tell the members when somebody joins',
  joinedText: 'Every member gets a mail when a person joins the organization.',
  newOrganization: 'New organization',
  newOrganizationText: 'An organization of your own, with a first project. You are its owner.',
  another: 'Another organization',
  anotherText: 'Organizations share nothing: members, projects, flags and data of each are its own.',
  remove: 'Delete',
  removeText: 'Ends it for everybody. Nothing of it can be brought back.',
  removeOrganization: 'Delete this organization',
  removeTitle: (name: string) => `Delete the organization ${name}?`,
  removeWhat: (projects: string) =>
    `${projects}, members, invites and domains are gone at once, and all project keys stop working. Events and persons are removed in the background. Members keep their accounts. This cannot be undone.`,
  needsOwner: 'The owner of the organization can do this.',
  typeName: 'Type the name to go on',
};
