import { useQuery } from '@tanstack/react-query';
import { call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';

/** Shows a note if the organization's plan does not include access rules, because rules then have no effect. */
export function MissingPlanNote({ children }: { children: string }) {
  const { organization: id } = useProject();
  const { data } = useQuery({
    queryKey: ['organization', id, 'plan'],
    queryFn: ({ signal }) =>
      call<{ available_product_features: { key: string }[] }>({ path: `/api/organizations/${id}` }, signal),
  });
  const features = data?.available_product_features;
  if (features === undefined || features.some(({ key }) => key === 'project_based_permissioning')) return null;
  return <p className="note warn">{children}</p>;
}
