// Annotations (notes about a point in time) in the API's format, and the context that determines which annotations a
// chart shows.

import { createContext } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: 'dashboard_item' | 'dashboard' | 'project' | 'organization';
  /** An insight ID, despite its name. */
  dashboard_item: number | null;
  dashboard_id: number | null;
  created_by: { first_name: string; email: string } | null;
}

export const formatContent = ({ content }: Annotation) => escapeInvisible(content || text.emptyAnnotation);

/**
 * IDs of the saved insight and the dashboard that contain a chart. A chart without this context does not show
 * annotations.
 */
export const ChartPlace = createContext<{ insight?: number | undefined; dashboard?: number | undefined } | null>(null);
