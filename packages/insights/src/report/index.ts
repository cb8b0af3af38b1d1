export { makeReport, mostInsights, type ReportContent, type ReportedInsight } from './content.ts';
export { changeOf } from './figures.ts';
export { type Addresses, pictureLink, reportLinks } from './links.ts';
export { type Message, reportMail, textOf } from './mail.ts';
export { drawInsight, toPng } from './picture.ts';
export { slackBlocks } from './slack.ts';
