/**
 * Explorers in the pages of the site: a picture first, and the explorer once a reader is near it.
 *
 * docs/sitebuild/explorers.py writes what a page holds of each. The view loads for the first one
 * that comes near, so that a page shows its text and pictures at once.
 */

const NEAR = "100%"; // a screen below or above what the reader sees

function whenNear(elements: Iterable<Element>, call: (element: HTMLElement) => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting && target instanceof HTMLElement) {
          observer.unobserve(target);
          call(target);
        }
      }
    },
    { rootMargin: NEAR },
  );
  for (const element of elements) {
    observer.observe(element);
  }
}

whenNear(document.querySelectorAll(".stored-explorer"), (element) => {
  void import("./mount").then(({ mountStored }) => mountStored(element));
});
