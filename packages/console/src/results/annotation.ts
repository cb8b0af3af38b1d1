// Annotations (notes about a point in time) in the API's format, and the context that selects a chart's annotations.

import { createContext } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: 'dashboard_item' | 'dashboard' | 'project' | 'organization';
  /** This field contains an insight ID, despite its name. */
  dashboard_item: number | null;
  dashboard_id: number | null;
  created_by: { first_name: string; email: string } | null;
}

export const formatContent = ({ content }: Annotation) => escapeInvisible(content || text.emptyAnnotation);

/** The saved insight and the dashboard that contain a chart. Charts without this context do not show annotations. */
export const ChartPlace = createContext<{ insight?: number | undefined; dashboard?: number | undefined } | null>(null);
