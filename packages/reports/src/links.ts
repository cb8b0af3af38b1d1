// Builds the links in reports.

export interface PublicUrls {
  /** Base URL of the PostHog application that links open. By default, links open the console. */
  publicAppUrl: string | undefined;
  /** The API's URL, which also serves the console. */
  publicApiUrl: string | undefined;
}

interface Linked {
  id: number;
  short_id: string;
}

export interface ReportLinks {
  insight(insight: Linked): string | null;
  dashboard(id: number): string | null;
  project: string | null;
}

/** Creates a report's links. They are null if neither URL is configured. */
export function createReportLinks({ publicAppUrl, publicApiUrl }: PublicUrls, projectId: number): ReportLinks {
  const base = (publicAppUrl ?? publicApiUrl)?.replace(/\/+$/, '');
  if (base === undefined) return { insight: () => null, dashboard: () => null, project: null };
  if (publicAppUrl !== undefined) {
    const project = `${base}/project/${projectId}`;
    return {
      insight: ({ id }) => `${project}/insights/${id}`,
      dashboard: (id) => `${project}/dashboard/${id}`,
      project,
    };
  }
  const project = `${base}/console/projects/${projectId}`;
  return {
    insight: ({ short_id: shortId }) => `${project}/insights?insight=${encodeURIComponent(shortId)}`,
    dashboard: (id) => `${project}/dashboards?dashboard=${id}`,
    project,
  };
}

/** Creates the link to a picture. @param at the insight's index in the report */
export function createPictureLink(publicApiUrl: string | undefined, reportId: string, at: number): string | null {
  return publicApiUrl === undefined
    ? null
    : `${publicApiUrl.replace(/\/+$/, '')}/api/report_pictures/${reportId}/${at}`;
}

/** Creates a link for unsubscribing. @param unsubscribeId the email's ID */
export function createUnsubscribeLink(publicApiUrl: string | undefined, unsubscribeId: string): string | null {
  return publicApiUrl === undefined ? null : `${publicApiUrl.replace(/\/+$/, '')}/api/unsubscribe/${unsubscribeId}`;
}
