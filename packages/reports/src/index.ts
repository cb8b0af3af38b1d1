export { makeReport, maxInsights, type ReportContent, type ReportedInsight, webhookFormat } from './content.ts';
export { type Addresses, pictureLink, reportLinks, unsubscribeLink } from './links.ts';
export { escapedHtml, type Message, reportMail, textOf } from './mail.ts';
export { drawInsight, hasPicture, toPng } from './picture.ts';
export { slackBlocks } from './slack.ts';
