// The entry point of public pages, which do not require a sign-in.

import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../api/queries.ts';
import { SharedPage } from './page.tsx';
import '../styles/fonts.css';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/parts.css';
import '../pages/dashboards/dashboards.css';
import './shared.css';

const place = document.getElementById('console');
const token = /\/(?:shared|embedded)\/([^/]+)\/?$/.exec(location.pathname)?.[1] ?? '';
if (place) {
  createRoot(place).render(
    <QueryClientProvider client={queryClient}>
      <SharedPage token={token} />
    </QueryClientProvider>,
  );
}
