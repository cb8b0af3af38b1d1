export const text = {
  nameText: 'The organization’s name in emails, invites and the project list.',
  mails: 'Email',
  members: 'Member permissions',
  privacy: 'Privacy and sharing',
  switches: {
    is_member_join_email_enabled: {
      label: 'Email members when someone joins',
      about: 'Every member gets an email when a person joins the organization.',
    },
    members_can_invite: {
      label: 'Members can invite people',
      about: 'When this setting is off, only administrators and owners can invite people.',
    },
    members_can_use_personal_api_keys: {
      label: 'Members can use personal API keys',
      about:
        'When this setting is off, members’ personal API keys do not give access to this organization. The keys of administrators and owners keep working.',
    },
    default_anonymize_ips: {
      label: 'Discard client IP data in new projects',
      about:
        'New projects and environments start without storing IP addresses. Existing projects keep their own setting.',
    },
    allow_publicly_shared_resources: {
      label: 'Allow public links',
      about:
        'Members can share insights and dashboards with anyone who has the link, and Slack loads the pictures in reports without signing in. When this setting is off, existing links stop working, and messages to Slack and webhooks have no pictures.',
    },
  },
  newOrganization: 'New organization',
  newOrganizationText: 'Creates an organization with one project. You become the organization’s owner.',
  another: 'More organizations',
  anotherText: 'Organizations are separate: each has its own members, projects, flags and data.',
  remove: 'Delete',
  removeText: 'Deletes the organization for everyone. This cannot be undone.',
  removeOrganization: 'Delete this organization',
  removeTitle: (name: string) => `Delete the organization ${name}?`,
  removeWhat: (projects: string) =>
    `${projects} and all members, invites and domains are deleted immediately, and all project API keys stop working. Events and persons are deleted in the background. Members keep their accounts. This cannot be undone.`,
  needsOwner: 'Only organization owners can do this.',
  typeName: 'Type the name to continue',
};
