import { DocumentForm } from './document-form.tsx';
import { PageSection, type ProjectProps } from './page-section.tsx';

/** The most that a project may use on a day. */
export function Limits(props: ProjectProps) {
  return (
    <PageSection
      title="Limits"
      project={props.project}
      intro="Of a day (UTC). Beyond them images that are not cached are refused. Only a root key may change them."
    >
      <DocumentForm
        {...props}
        name="limits"
        input="LimitsInput"
        title="Limits for a day"
        placeholders={{ rendersPerDay: 'no limit', bytesPerDay: 'no limit' }}
        saved="The limits are saved. Beyond them, images that are not cached are refused."
      />
    </PageSection>
  );
}
