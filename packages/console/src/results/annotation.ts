// Annotations (notes about a point in time) in the format of the API, and the context that tells a chart which of them
// to show.

import { createContext } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: 'dashboard_item' | 'dashboard' | 'project' | 'organization';
  /** This is the ID of an insight, despite its name. */
  dashboard_item: number | null;
  dashboard_id: number | null;
  created_by: { first_name: string; email: string } | null;
}

export const formatContent = ({ content }: Annotation) => escapeInvisible(content || text.emptyAnnotation);

/**
 * The saved insight and the dashboard to which a chart belongs. Without this context, charts do not show annotations.
 */
export const ChartPlace = createContext<{ insight?: number | undefined; dashboard?: number | undefined } | null>(null);
