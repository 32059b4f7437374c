//! Files that are not plain text.

use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};
use serde_json::{Value, json as value};
use windlass_core::call::outcome::ToolOutcome;

use crate::fixture::{TestWorkspace, failure_of, success_text};

async fn read(workspace: &TestWorkspace, input: Value) -> ToolOutcome {
    workspace.read(&input.to_string()).await
}

#[tokio::test]
async fn a_picture_comes_as_a_picture() {
    let workspace = TestWorkspace::new();
    let table: [(&str, &[u8], &str); 4] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        ("a.txt", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a.gif", b"GIF89a\0", "image/gif"),
        ("a", b"RIFF\x04\0\0\0WEBPVP8 ", "image/webp"),
    ];
    for (name, bytes, media_type) in table {
        workspace.write(name, bytes);
        let ToolOutcome::Done(content) = read(&workspace, value!({ "file_path": name })).await
        else {
            panic!("{name}")
        };
        let blocks: Value = content.read().unwrap();
        assert_eq!(blocks[0]["type"], "image", "{name}");
        assert_eq!(blocks[0]["source"]["type"], "base64", "{name}");
        assert_eq!(blocks[0]["source"]["media_type"], media_type, "{name}");
    }
    workspace.write("a", b"GIF89a");
    let ToolOutcome::Done(content) = read(&workspace, value!({ "file_path": "a" })).await else {
        panic!()
    };
    assert_eq!(content.read::<Value>().unwrap()[0]["source"]["data"], "R0lGODlh");
    workspace.write("large.png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 4 << 20]].concat());
    let error = failure_of(read(&workspace, value!({ "file_path": "large.png" })).await);
    assert_eq!(&*error.code, "file_too_large");
}

/// A document with a line on each page.
fn pdf(pages: u32) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let parent = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        "Encoding" => "WinAnsiEncoding",
    });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let kids: Vec<Object> = (1..=pages)
        .map(|page| {
            let operations = vec![
                Operation::new("BT", vec![]),
                Operation::new("Tf", vec!["F1".into(), 48.into()]),
                Operation::new("Tj", vec![Object::string_literal(format!("this is leaf {page}"))]),
                Operation::new("ET", vec![]),
            ];
            let content = Content { operations }.encode().unwrap();
            let content = document.add_object(Stream::new(dictionary! {}, content));
            let page = dictionary! { "Type" => "Page", "Parent" => parent, "Contents" => content };
            document.add_object(page).into()
        })
        .collect();
    let tree = dictionary! {
        "Type" => "Pages", "Kids" => kids, "Count" => pages, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    };
    document.objects.insert(parent, Object::Dictionary(tree));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => parent });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_pdf_comes_by_page() {
    let workspace = TestWorkspace::new();
    workspace.write("a.pdf", pdf(30));
    let output =
        success_text(read(&workspace, value!({ "file_path": "a.pdf", "pages": "2-3" })).await);
    assert!(output.starts_with("[page 2 of 30]\nthis is leaf 2\n[page 3 of 30]\n"), "{output}");
    assert!(output.contains("continue with pages \"4-"), "{output}");
    let output = success_text(read(&workspace, value!({ "file_path": "a.pdf" })).await);
    assert!(output.contains("this is leaf 20") && !output.contains("leaf 21"), "{output}");
    let output =
        success_text(read(&workspace, value!({ "file_path": "a.pdf", "pages": "30" })).await);
    assert_eq!(output, "[page 30 of 30]\nthis is leaf 30\n");
    for (pages, code) in [
        ("31", "offset_past_end"),
        ("1-21", "invalid_input"),
        ("x", "invalid_input"),
        ("0", "invalid_input"),
        ("3-2", "invalid_input"),
    ] {
        let outcome = read(&workspace, value!({ "file_path": "a.pdf", "pages": pages })).await;
        assert_eq!(&*failure_of(outcome).code, code, "{pages}");
    }
    workspace.write("a.txt", "text");
    let outcome = read(&workspace, value!({ "file_path": "a.txt", "pages": "1" })).await;
    assert_eq!(&*failure_of(outcome).code, "invalid_input");
}

#[tokio::test]
async fn a_damaged_pdf_says_so() {
    let workspace = TestWorkspace::new();
    let whole = pdf(3);
    for cut in [5, 20, whole.len() / 2, whole.len() - 20] {
        workspace.write("a.pdf", &whole[..cut]);
        match read(&workspace, value!({ "file_path": "a.pdf" })).await {
            ToolOutcome::Done(_) => {}
            ToolOutcome::Failed(error) => {
                let known = ["pdf_unreadable", "offset_past_end", "tool_panicked"];
                assert!(known.contains(&&*error.code), "{error:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A page of a few kilobytes that would decompress to twenty million bytes.
#[tokio::test]
async fn a_page_that_unpacks_without_end_is_not_unpacked() {
    let workspace = TestWorkspace::new();
    let mut document = Document::load_mem(&pdf(1)).unwrap();
    let page = document.get_pages()[&1];
    let mut content = Stream::new(dictionary! {}, vec![b' '; 20_000_000]);
    content.compress().unwrap();
    let content = document.add_object(content);
    let page = document.get_object_mut(page).unwrap().as_dict_mut().unwrap();
    page.set("Contents", content);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    assert!(bytes.len() < 1_000_000, "{}", bytes.len());
    workspace.write("bomb.pdf", bytes);
    let output = success_text(read(&workspace, value!({ "file_path": "bomb.pdf" })).await);
    assert!(output.contains("(this page cannot be read: "), "{output}");
}

/// Malformed documents.
#[tokio::test]
async fn a_hostile_pdf_breaks_nothing() {
    let workspace = TestWorkspace::new();
    let deep = |open: &str, close: &str, depth: usize| {
        format!(
            "%PDF-1.4\n1 0 obj\n{}{}\nendobj\ntrailer << /Root 1 0 R >>\nstartxref\n9\n%%EOF",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let own_parent = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n\
        << /Type /Pages /Kids [2 0 R] /Count 99999999 /Parent 2 0 R >>\nendobj\n\
        xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000058 00000 n \n\
        trailer << /Root 1 0 R /Size 3 >>\nstartxref\n148\n%%EOF";
    let hostile = [
        deep("[", "]", 100_000),
        deep("<< /A ", " >>", 100_000),
        deep("(", ")", 100_000),
        own_parent.to_owned(),
        "%PDF-1.4\nstartxref\n99999999999999999999\n%%EOF".to_owned(),
    ];
    for document in hostile {
        workspace.write("a.pdf", &document);
        let outcome = read(&workspace, value!({ "file_path": "a.pdf" })).await;
        assert!(matches!(outcome, ToolOutcome::Failed(_)), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_notebook_comes_by_cell() {
    let workspace = TestWorkspace::new();
    let notebook = value!({ "cells": [
        { "cell_type": "markdown", "source": ["# Title\n", "text"] },
        { "cell_type": "code", "source": "1 + 1", "outputs": [
            { "output_type": "execute_result", "data": { "text/plain": ["2"] } },
            { "output_type": "stream", "text": "printed\n" },
            { "output_type": "display_data", "data": { "image/png": "AAAA" } },
            { "output_type": "error", "ename": "E", "evalue": "went wrong" },
        ] },
    ] });
    workspace.write("a.ipynb", notebook.to_string());
    let said = success_text(read(&workspace, value!({ "file_path": "a.ipynb" })).await);
    assert_eq!(
        said,
        "[cell 1 of 2: markdown]\n# Title\ntext\n[cell 2 of 2: code]\n1 + 1\n[output]\n2\n\
         [output]\nprinted\n\n[output]\n(image/png)\n[output]\nE: went wrong\n"
    );
    let said = success_text(
        read(&workspace, value!({ "file_path": "a.ipynb", "limit": 1, "offset": 1 })).await,
    );
    assert_eq!(said, "[cell 1 of 2: markdown]\n# Title\ntext\n");
    workspace.write("b.ipynb", "{}");
    let error = failure_of(read(&workspace, value!({ "file_path": "b.ipynb" })).await);
    assert_eq!(&*error.code, "notebook_unreadable");
}

#[tokio::test]
async fn marks_and_wide_characters_are_read_and_told() {
    let workspace = TestWorkspace::new();
    workspace.write("bom.txt", b"\xef\xbb\xbfone\n");
    let output = success_text(read(&workspace, value!({ "file_path": "bom.txt" })).await);
    assert_eq!(output, "     1\tone\n[UTF-8 with a byte order mark]\n");
    workspace.write("wide.txt", b"\xfe\xff\0o\0n\0e\0\r\0\n");
    let output = success_text(read(&workspace, value!({ "file_path": "wide.txt" })).await);
    assert_eq!(output, "     1\tone\n[lines end in CR LF]\n[UTF-16, big-endian]\n");
    workspace.write("torn.txt", b"\xff\xfea");
    let error = failure_of(read(&workspace, value!({ "file_path": "torn.txt" })).await);
    assert_eq!(&*error.code, "binary_file");
}
