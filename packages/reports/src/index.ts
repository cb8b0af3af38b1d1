export { createReport, maxInsights, type ReportContent, type ReportedInsight, toWebhookReport } from './content.ts';
export { createPictureLink, createReportLinks, createUnsubscribeLink, type PublicUrls } from './links.ts';
export { buildReportMail, escapeHtml, type ReportMessage, renderText } from './mail.ts';
export { drawInsight, hasPicture, toPng } from './picture.ts';
export { buildSlackBlocks } from './slack.ts';
