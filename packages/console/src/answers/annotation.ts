import { createContext } from 'react';
import { visible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export interface Annotation {
  id: number;
  content: string | null;
  date_marker: string | null;
  scope: 'dashboard_item' | 'dashboard' | 'project' | 'organization';
  /** ID of an insight. */
  dashboard_item: number | null;
  dashboard_id: number | null;
  created_by: { first_name: string; email: string } | null;
}

export const contentOf = ({ content }: Annotation) => visible(content || text.emptyAnnotation);

/** The stored insight and the dashboard that charts belong to. Charts without a place show no annotations. */
export const ChartPlace = createContext<{ insight?: number | undefined; dashboard?: number | undefined } | null>(null);
