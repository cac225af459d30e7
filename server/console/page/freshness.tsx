import { DocumentForm } from './document-form.tsx';
import { PageSection, type ProjectProps } from './page-section.tsx';

/** How images follow sources that change under their URL. */
export function Freshness(props: ProjectProps) {
  return (
    <PageSection
      title="Freshness"
      project={props.project}
      intro="How images follow sources that change under the same URL. Without ages, images change only after a purge or with another v in their URL."
    >
      <DocumentForm
        {...props}
        name="freshness"
        input="FreshnessInput"
        title="Freshness"
        placeholders={{ sourceAge: 'never asked', browserAge: 'a year' }}
        saved="Saved. Images follow it within two seconds; browsers keep what they have."
      />
    </PageSection>
  );
}
