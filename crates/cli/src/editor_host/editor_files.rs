//! The files of an editor, for tools: they run on threads that may block.

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Handle;
use windlass::tools::OpenFiles;
use windlass_acp::EditorFiles;

/// Waits for the editor on the thread of the tool.
pub(super) struct BlockingFiles {
    files: Arc<EditorFiles>,
    runtime: Handle,
}

impl BlockingFiles {
    /// Shares the files of the editor with tools.
    pub(super) fn share(files: Arc<EditorFiles>) -> Arc<dyn OpenFiles> {
        Arc::new(Self { files, runtime: Handle::current() })
    }
}

impl OpenFiles for BlockingFiles {
    fn read_text(&self, path: &Path) -> Option<String> {
        if !self.files.can_read {
            return None;
        }
        // A file that the editor cannot read is read from disk.
        self.runtime.block_on(self.files.read_text(path)).ok()
    }

    fn write_text(&self, path: &Path, text: &str) -> Option<Result<(), String>> {
        let writing = || self.runtime.block_on(self.files.write_text(path, text));
        self.files.can_write.then(writing)
    }
}
