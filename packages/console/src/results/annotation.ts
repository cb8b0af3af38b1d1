// Annotations (notes about a point in time) as the API returns them, and the place of a chart that shows them.

import { createContext } from 'react';
import { visible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: 'dashboard_item' | 'dashboard' | 'project' | 'organization';
  /** Despite its name, the ID of an insight. */
  dashboard_item: number | null;
  dashboard_id: number | null;
  created_by: { first_name: string; email: string } | null;
}

export const formatContent = ({ content }: Annotation) => visible(content || text.emptyAnnotation);

/** The saved insight and the dashboard that a chart belongs to. Without this context, charts show no annotations. */
export const ChartPlace = createContext<{ insight?: number | undefined; dashboard?: number | undefined } | null>(null);
