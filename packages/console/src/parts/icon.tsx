/** SVG paths of the 16 × 16 pixel icons. Icons are decorative, so they are hidden from screen readers. */
const paths = {
  mill: 'M8 3.8a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4M8 1.6v2M8 10.2v1.4M2.8 7h2M11.2 7h2M4.3 3.3l1.3 1.3M10.4 9.4l1.3 1.3M11.7 3.3l-1.3 1.3M5.6 9.4l-1.3 1.3M2 13.6c1-.9 2-.9 3 0s2 .9 3 0 2-.9 3 0 2 .9 3 0',
  home: 'M2 7.5 8 2.5l6 5M3.5 6.5v7h9v-7M6.5 13.5v-4h3v4',
  live: 'M1.5 8.5h2.8l2-5.5 3.2 10 2-4.5h3',
  events: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  persons: 'M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2M3 13.7c.3-2.7 2.2-4 5-4s4.7 1.3 5 4z',
  groups: 'M2.5 13.5v-9l4-2v11M6.5 6l4-1.5v9M10.5 7l3 1v5.5M1.5 13.5h13',
  cohorts:
    'M5.8 7.2a2 2 0 1 1 0-4 2 2 0 0 1 0 4M11.4 8a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2M1.8 13c.2-2.7 1.7-3.9 4-3.9s3.8 1.2 4 3.9zM11.6 9.8c1.8 0 2.7 1 2.8 3.2h-2.2',
  definitions: 'M3 2.5h8.5a1 1 0 0 1 1 1v10H4a1 1 0 0 1-1-1zM3 12.5a1 1 0 0 1 1-1h8.5M6 5.5h4M6 8h2.5',
  flags: 'M3.5 14V2.5h8.5l-2 3 2 3H3.5',
  warnings: 'M8 2.5 14.5 13.5h-13zM8 6.5v3M8 11.6v.1',
  health: 'M8 13.5C4.5 11 2 8.7 2 6a3 3 0 0 1 6-.8A3 3 0 0 1 14 6c0 2.7-2.5 5-6 7.5z',
  settings:
    'M8 5.8a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4M8 1.8v1.9M8 12.3v1.9M1.8 8h1.9M12.3 8h1.9M3.6 3.6l1.4 1.4M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  insights: 'M2 13.5h12M2.5 10l3.5-4 2.5 2.5 4.5-5.5M10.5 3H13v2.5',
  sql: 'M2.5 3h11v10h-11zM5 6.3 7 8 5 9.7M8.5 10h3',
  dashboards: 'M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 9.5h4.5v4h-4.5z',
  documents: 'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8M6 6.3c0-2.6 4-2.5 4 0 0 1.6-2 1.5-2 3M8 11.4v.1',
  exports: 'M2.5 9.5v4h11v-4M8 10.5v-8M5 5.5l3-3 3 3',
  mail: 'M2 3.5h12v9H2zM2 4.5l6 4.5 6-4.5',
  lock: 'M3.5 7h9v6.5h-9zM5.3 7V5a2.7 2.7 0 0 1 5.4 0v2M8 9.5v1.5',
  gone: 'M4 2.5h5l3 3v8H4zM6.3 8l3.4 3.4M9.7 8l-3.4 3.4',
  activity: 'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8M8 4.4V8l2.6 1.8',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.3 10.3l3.4 3.4',
  down: 'M4 6.3 8 10l4-3.7',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.3 3.3L13 4.7',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={size > 20 ? 0.9 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
