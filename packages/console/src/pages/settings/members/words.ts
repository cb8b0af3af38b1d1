import { counted, words } from '../../../words.ts';

const aLevel: Record<number, string> = { 1: 'a member', 8: 'an administrator', 15: 'an owner' };

export const text = {
  title: 'Members',
  about: (organization: string) => `Who belongs to ${organization}, and how much they may do.`,
  onlyAdministrators: 'Only administrators and owners change levels and remove members.',
  search: 'Name or address',
  noMatchTitle: 'Nobody has this in their name or address',
  noMatch: 'Whoever was invited and has not joined yet stands below.',
  showAll: 'Show all',
  columns: {
    member: 'Member',
    level: 'Level',
    factor: 'Second factor',
    joined: 'Joined',
    seen: 'Signed in',
    actions: 'Actions',
    address: 'Address',
    state: 'State',
    invited: 'Invited',
  },
  you: 'you',
  factor: { true: 'on', false: 'none' } as Record<string, string>,
  never: 'never',
  levels: words.level,
  levelOf: (name: string) => `Level of ${name}`,
  ownLevel: 'Nobody changes their own level.',
  aboveLevel: 'Only an owner can change this.',
  ownerLeaves: 'An owner cannot leave. Let another owner lower your level first.',
  ownerRemoved: 'To remove an owner, lower the level first.',
  change: 'Change the level',
  changeTitle: (name: string, level: number) => `Make ${name} ${aLevel[level]}?`,
  changeText: {
    1: 'A member works in the projects that are open to members, and administrates nothing.',
    8: 'An administrator sees every project, makes and changes keys of projects, and manages members, invites and domains.',
    15: 'An owner may do everything, also make other owners and delete the organization.',
  } as Record<number, string>,
  fewerInvites: 'Open invites that promise more than the new level are taken back.',
  remove: 'Remove',
  removeWhom: (name: string) => `Remove ${name}`,
  removeTitle: (name: string, organization: string) => `Remove ${name} from ${organization}?`,
  removeText:
    'Access ends with the next request. The account and what it made stay; its keys reach nothing here any more, and its open invites are taken back.',
  leave: 'Leave',
  leaveTitle: (organization: string) => `Leave ${organization}?`,
  leaveText: 'You lose access at once. To come back you need a new invite.',

  invites: {
    title: 'Invites',
    about: 'Who was invited and has not joined yet. An invite is good for three days.',
    invite: 'Invite people',
    emptyTitle: 'Nobody is waiting for an answer',
    empty: (sendsMail: boolean) =>
      sendsMail
        ? 'Whoever you invite gets a mail, and you get a link that you can hand over yourself.'
        : 'Mail is not set up here, so you get a link for each person and hand it over yourself.',
    states: {
      expired: 'Expired',
      failed: 'Mail failed',
      mailed: 'Mailed',
      link: 'By link',
      unmailed: 'Not mailed',
    },
    expired: 'Send it again for another three days.',
    errors: (code: string) => {
      if (code === 'unreachable') return 'The mail server did not answer.';
      if (/^5/.test(code)) return `The mail server refused the address (${code}).`;
      return `The mail server did not take it (${code}).`;
    },
    noMailHere: 'Mail is not set up here. Send it again to get its link.',
    notYet: 'The mail is still on its way, or the mails of this hour are used up.',
    byWhom: (who: string) => `by ${who}`,
    again: 'Send again',
    againTo: (email: string) => `Send again to ${email}`,
    againAbove: 'Its level is above yours.',
    takeBack: 'Take back',
    takeBackFrom: (email: string) => `Take back the invite of ${email}`,
    takeBackTitle: (email: string) => `Take back the invite of ${email}?`,
    takeBackText: 'Its links stop working at once.',
  },

  form: {
    title: 'Invite people',
    about: 'All of them are invited, or none: what is wrong with one is said here.',
    addresses: 'E-mail addresses',
    addressesHint: (count: number) =>
      count === 0 ? 'One on each line, or with commas between; at most 20.' : `${counted(count, 'person', 'people')}.`,
    tooMany: (count: number) => `These are ${count}. At most 20 can be invited at once.`,
    level: 'Level',
    levelHint: 'At most your own.',
    message: 'Your words in the mail',
    mail: 'Send each a mail',
    noMail: 'Mail is not set up here: you get a link for each person on the next screen.',
    linkToo: 'You get a link for each person too, on the next screen.',
    projects: 'Private projects',
    projectsHint: 'These are closed to members unless they are let in.',
    projectsOfAll: 'Administrators and owners have access to all projects.',
    noAccess: 'no access',
    wrongOf: (address: string, detail: string) => `${address}: ${detail}`,
    submit: (count: number) => (count <= 1 ? 'Invite' : `Invite ${count} people`),
  },

  made: {
    title: (count: number) => (count === 1 ? 'The invite is made' : `${count} invites are made`),
    text: 'Hand each link to its person and nobody else: whoever opens it joins under that address. The links are shown this once.',
    noLinks: 'Links are shown only to whoever is signed in, not for an API key.',
    linkOf: (email: string) => `Link for ${email}`,
    mailed: 'A mail is on its way too.',
    unmailed: 'No mail was sent.',
    done: 'Done',
  },
};
