// Where people look at what a report is about.

export interface Addresses {
  /** Of an application of PostHog, if that is where people look. */
  publicAppUrl: string | undefined;
  /** Of the API, which serves the console. */
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

/** Null where nobody has told us where people look. */
export function reportLinks({ publicAppUrl, publicApiUrl }: Addresses, projectId: number): ReportLinks {
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

/** Where a picture of a report that was kept can be loaded from, without signing in. @param at its place among the insights */
export function pictureLink(publicApiUrl: string | undefined, reportId: string, at: number): string | null {
  return publicApiUrl === undefined
    ? null
    : `${publicApiUrl.replace(/\/+$/, '')}/api/report_pictures/${reportId}/${at}`;
}

/** Where whoever gets a mail has no more of them sent. @param unsubscribeId of the mail */
export function unsubscribeLink(publicApiUrl: string | undefined, unsubscribeId: string): string | null {
  return publicApiUrl === undefined ? null : `${publicApiUrl.replace(/\/+$/, '')}/api/unsubscribe/${unsubscribeId}`;
}
