// Declares the routes that preview reports and show sent reports.

import { maskTarget } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { formatDateTime, MessageStream, TextContent } from '@millrace/http';
import {
  buildReportMail,
  createReport,
  createReportLinks,
  drawInsight,
  maxInsights,
  type PublicUrls,
  type ReportContent,
  type ReportedInsight,
  type ReportMessage,
  renderText,
  toPng,
  toWebhookReport,
} from '@millrace/reports';
import { AppError, type Logger } from '@millrace/runtime';
import { describeRule } from '@millrace/schedule';
import { Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { canSeeSecrets } from '../../access/caller.ts';
import { type BasePath, defineRoute, defineRoutes } from '../../access/define-route.ts';
import type { QueryRunner } from '../../analytics/query/query-runner.ts';
import { requireReportAccess, requireReportScopes, requireSubjectAccess } from './rules.ts';
import { deliveryExample, reportExample, sentReport, shownReport } from './schema.ts';
import {
  type DeliveryRow,
  findDelivery,
  findEnvironmentName,
  findReport,
  findSubscription,
  type SubscriptionRow,
} from './store.ts';

export interface ReportRouteDeps {
  sql: Sql;
  queryRunner: QueryRunner;
  /** Base URLs for links in reports. */
  addresses: PublicUrls;
  logger: Logger;
}

const largest = 2_147_483_647;
const number = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: largest, description }));
const format = Type.Optional(
  Type.String({ description: '`html` returns the HTML page of the email. Any other value returns JSON.' }),
);
const page = { mediaType: 'text/html; charset=utf-8', example: '<!doctype html>…' };

const previewQuery = Type.Object({
  insight: number('ID of the insight. If both `insight` and `dashboard` are set, the report is about the insight.'),
  dashboard: number('ID of the dashboard.'),
  dashboard_export_insights: Type.Optional(
    Type.String({
      pattern: '^\\d{1,10}(,\\d{1,10}){0,5}$',
      description: 'IDs of the dashboard insights to show, separated by commas. Defaults to the first six.',
    }),
  ),
  title: Type.Optional(Type.String({ maxLength: 100, description: 'Title of the report.' })),
  invite_message: Type.Optional(
    Type.String({ maxLength: 10_000, description: 'Message shown in the report to new recipients.' }),
  ),
  format,
});

/**
 * Headers of a response that contains an email as an HTML page, which the console shows in a frame. The page runs no
 * scripts, loads nothing, and opens its links in new windows.
 */
const framed = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
  'X-Frame-Options': 'SAMEORIGIN',
};

export function reportRoutes(
  { sql, queryRunner, addresses, logger }: ReportRouteDeps,
  { below, path }: { below: readonly BasePath<AddressedProject>[]; path: string },
) {
  const tags: [string] = ['subscriptions'];
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${path}/preview`,
      operationId: 'subscriptions_preview_retrieve',
      summary: 'Preview a report',
      description:
        'Returns the report that a subscription to the insight or the dashboard would send, with current or cached ' +
        'results. If neither parameter is set, returns the report for a subscription without an insight or a ' +
        'dashboard. Nothing is stored or sent. Also requires the scope `insight:read`, and `dashboard:read` for a ' +
        'dashboard.',
      tags,
      scope: 'subscription:read',
      query: previewQuery,
      responses: { 200: { description: 'The report.', schema: shownReport, text: page } },
      examples: { response: reportExample },
      handler: async ({ caller, target, query, request }) => {
        const { insight = null, dashboard = null, dashboard_export_insights, title, invite_message: invite } = query;
        requireReportScopes(caller, { dashboard });
        await requireSubjectAccess(sql, target, { insight, dashboard });
        const signal = request.disconnectSignal();
        const runQuery = async (requested: unknown, now: number) => {
          const insightQuery = { query: requested, refresh: 'blocking', signal, now: new Date(now) } as const;
          const { result } = await queryRunner.run({ caller, target }, insightQuery);
          if (result === null) throw new AppError('internal', 'The query has no result.');
          return result;
        };
        const chosen = dashboard_export_insights?.split(',').map(Number) ?? [];
        const about = { projectId: target.environmentId, insight, dashboard, chosen, dueAt: new Date() };
        const content = await createReport({ sql, runQuery }, about);
        const isAboutProject = insight === null && dashboard === null;
        if (content === null && !isAboutProject) {
          const [attr, id] = insight === null ? ['dashboard', dashboard] : ['insight', insight];
          throw new AppError('invalid', `Invalid pk "${id}" - object does not exist.`, {
            code: 'does_not_exist',
            attr: `${attr}`,
          });
        }
        const links = createReportLinks(addresses, target.environmentId);
        const message = {
          title: title?.trim() || content?.name || (await findEnvironmentName(sql, target.environmentId)),
          summary: 'sent on the schedule of its subscription',
          nextAt: null,
          link: linkOf(links, { insight, dashboard }, content?.insights[0]),
          linkOf: links.insight,
          invite: invite?.trim() ? { by: null, message: invite.trim() } : null,
          end: null,
          unsubscribe: null,
          content,
        };
        return show(message, { format: query.format, logger });
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${path}/:id/deliveries/:delivery_id`,
      operationId: 'subscriptions_deliveries_retrieve',
      summary: 'Show a report that was sent',
      description:
        'Returns a report with the results that were sent. `report` is null while the results are being computed. ' +
        'It is also null for the last report, which says that the insight or dashboard was deleted. Also requires ' +
        'the scope `insight:read`, and `dashboard:read` for a dashboard.',
      tags,
      scope: 'subscription:read',
      params: Type.Object({
        id: Type.Integer({ minimum: 1, maximum: largest, description: 'ID of the subscription.' }),
        delivery_id: Type.String({ format: 'uuid', description: 'ID of the report.' }),
      }),
      query: Type.Object({ format }),
      responses: { 200: { description: 'The report.', schema: sentReport, text: page } },
      examples: { response: { ...deliveryExample, report: reportExample } },
      handler: async ({ caller, target, params: { id, delivery_id: deliveryId }, query }) => {
        const { environmentId, level } = target;
        const subscription = await findSubscription(sql, environmentId, id);
        const found = subscription && (await findDelivery(sql, id, deliveryId));
        if (!subscription || !found) throw new AppError('not_found', 'Not found.');
        const { content, ...delivery } = found;
        await requireReportAccess(sql, { caller, target }, { subscription, content });
        const showsSecrets = canSeeSecrets(caller, 'subscription:write', level);
        const message = content && messageOf(subscription, content, addresses, environmentId);
        const shown = message && (await show(message, { format: query.format, logger }));
        if (shown instanceof TextContent) return shown;
        return { ...toDelivery(delivery, showsSecrets), report: shown };
      },
    }),
  ];
}

/**
 * Declares the route for the images in reports, for clients such as Slack that load images from a URL. The request must
 * contain the ID of a report, which only its recipients know.
 */
export function reportPictureRoute({ sql }: Pick<ReportRouteDeps, 'sql'>) {
  return defineRoute({
    method: 'GET',
    path: '/api/report_pictures/:report_id/:at',
    operationId: 'report_pictures_retrieve',
    summary: 'Get an image from a report',
    description:
      'Returns the image of one insight in a report. Slack and webhooks receive this URL. The request requires no ' +
      'authentication, because the URL contains an ID that cannot be guessed.',
    tags: ['subscriptions'],
    scope: 'public',
    params: Type.Object({
      report_id: Type.String({ format: 'uuid', description: 'ID of the report, which only its recipients know.' }),
      at: Type.Integer({
        minimum: 0,
        maximum: maxInsights - 1,
        description: 'Position of the insight in the report, starting at 0.',
      }),
    }),
    responses: { 200: { description: 'The image.', stream: { mediaType: 'image/png', example: '' } } },
    handler: async ({ params: { report_id: id, at } }) => {
      const insight = (await findReport(sql, id))?.insights[at];
      const svg = insight && drawInsight(insight);
      if (!svg) throw new AppError('not_found', 'Not found.');
      const png = await toPng(svg);
      return new MessageStream({ 'Cache-Control': 'public, max-age=86400, immutable' }, (output) => output.end(png));
    },
  });
}

/**
 * Converts a delivery to an API response.
 * @param showsSecrets whether the caller can see secrets (docs/api/README.md#secrets-in-responses)
 */
export function toDelivery(row: DeliveryRow, showsSecrets: boolean) {
  return {
    ...row,
    target: showsSecrets ? row.target : maskTarget(row.target),
    due_at: formatDateTime(row.due_at),
    created_at: formatDateTime(row.created_at),
    finished_at: row.finished_at && formatDateTime(row.finished_at),
  };
}

async function show(
  message: ReportMessage,
  { format: requested, logger }: { format: string | undefined; logger: Logger },
) {
  if (requested === 'html') {
    const { html, attachments } = await buildReportMail(message, logger);
    const page = attachments.reduce(
      (before, { cid, content }) =>
        before.replaceAll(`cid:${cid}`, `data:image/png;base64,${content.toString('base64')}`),
      html.replace('<meta charset="utf-8">', '<meta charset="utf-8"><base target="_blank">'),
    );
    return new TextContent(page, framed);
  }
  const { title: subject, content } = message;
  const insights = (content?.insights ?? []).map(toWebhookReport);
  return { subject, text: renderText(message), total_insights: content?.total ?? 0, insights };
}

function linkOf(
  links: ReturnType<typeof createReportLinks>,
  { insight, dashboard }: Pick<SubscriptionRow, 'insight' | 'dashboard'>,
  first: ReportedInsight | undefined,
): string | null {
  if (insight !== null) return first === undefined ? null : links.insight(first);
  return dashboard === null ? links.project : links.dashboard(dashboard);
}

function messageOf(
  subscription: SubscriptionRow,
  content: ReportContent,
  addresses: PublicUrls,
  environmentId: number,
): ReportMessage {
  const links = createReportLinks(addresses, environmentId);
  return {
    title: subscription.title?.trim() || content.name,
    summary: describeRule(subscription),
    nextAt: null,
    link: linkOf(links, subscription, content.insights[0]),
    linkOf: links.insight,
    invite: null,
    end: null,
    unsubscribe: null,
    content,
  };
}
