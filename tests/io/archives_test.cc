// gzip, tar and IDX, and archives unpacked into folders.
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "thalweg/core/error.h"
#include "thalweg/io/extract.h"
#include "thalweg/io/gzip.h"
#include "thalweg/io/idx.h"
#include "thalweg/io/tar.h"
#include "thalweg/io/zip.h"

namespace thalweg::io {
namespace {

namespace fs = std::filesystem;
using errors::DataLossError;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
ByteSource source(const std::string& text) { return ByteSource::copy(bytes_of(text), "test"); }
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string gzip(const std::string& text) {
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// A member of a tar archive, padded to whole blocks.
std::string member(const std::string& name, const std::string& content, char type = '0',
                   const std::string& prefix = "") {
  std::string header(512, '\0');
  auto put = [&](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  put(0, name);
  put(124, size);
  put(148, "        ");
  header[156] = type;
  put(257, std::string("ustar\0", 6) + "00");
  put(345, prefix);
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  put(148, text);
  header[154] = '\0';
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}
const std::string tar_end(1024, '\0');

TEST(Gzip, ReadsMembersInARow) {
  std::string large(3 << 20, 'a');
  for (size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>(i);
  EXPECT_EQ(text_of(read_gzip(source(gzip(large)))), large);
  EXPECT_EQ(text_of(read_gzip(source(gzip("one ") + gzip("") + gzip("two")))), "one two");
  EXPECT_EQ(text_of(read_gzip(source(gzip("")))), "");
  EXPECT_THROW(read_gzip(source(gzip(large)), 1 << 20), ResourceExhaustedError);
}

TEST(Gzip, RefusesDamage) {
  std::string sound = gzip("some text that is long enough to be damaged");
  EXPECT_THROW(read_gzip(source("")), DataLossError);
  EXPECT_THROW(read_gzip(source("plain text")), DataLossError);
  EXPECT_THROW(read_gzip(source(sound + "trailing")), DataLossError);
  for (size_t i = 1; i < sound.size(); ++i) EXPECT_THROW(read_gzip(source(sound.substr(0, i))), DataLossError) << i;
  sound[sound.size() - 6] = static_cast<char>(sound[sound.size() - 6] ^ 1);
  EXPECT_THROW(read_gzip(source(sound)), DataLossError) << "the checksum";
}

TEST(Idx, ReadsBigEndianArrays) {
  Tensor x = parse_idx(bytes_of({"\0\0\x0b\2\0\0\0\1\0\0\0\2\1\2\xff\xfe", 16}));
  EXPECT_EQ(x.shape(), (Shape{1, 2}));
  EXPECT_EQ(x.data<int16_t>()[0], 258);
  EXPECT_EQ(x.data<int16_t>()[1], -2);
  EXPECT_EQ(parse_idx(bytes_of({"\0\0\x08\1\0\0\0\0", 8})).shape(), (Shape{0}));
}

TEST(Idx, RefusesDamage) {
  for (std::string_view bytes : {std::string_view(""), std::string_view("\0\0\x08", 3),
                                 std::string_view("\1\0\x08\0", 4), std::string_view("\0\0\x07\0x", 5),
                                 std::string_view("\0\0\x08\1\0\0\0", 7), std::string_view("\0\0\x08\1\0\0\0\2x", 9),
                                 std::string_view("\0\0\x08\1\0\0\0\1xx", 10), std::string_view("\0\0\x08\xff\0\0", 6),
                                 std::string_view("\0\0\x0e\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16)})
    EXPECT_THROW(parse_idx(bytes_of(bytes)), DataLossError);
}

TEST(Tar, ReadsNamesOfAllKinds) {
  std::string longest(150, 'n');
  std::string archive = member("folder/", "", '5') + member("a.txt", "abc", '0', "folder") +
                        member("././@LongLink", longest + '\0', 'L') + member("short", "long", '0') +
                        member("pax", "14 path=p/a/x\n", 'x') + member("p", "pax") + member("link", "", '2') + tar_end;
  auto entries = read_tar(source(archive));
  ASSERT_EQ(entries.size(), 5);
  EXPECT_EQ(entries[0].kind, TarEntry::Kind::folder);
  EXPECT_EQ(entries[1].name, "folder/a.txt");
  EXPECT_EQ(archive.substr(entries[1].offset, entries[1].size), "abc");
  EXPECT_EQ(entries[2].name, longest);
  EXPECT_EQ(entries[3].name, "p/a/x");
  EXPECT_EQ(entries[4].kind, TarEntry::Kind::other);
}

TEST(Tar, RefusesDamage) {
  std::string sound = member("a", "abc") + tar_end;
  EXPECT_THROW(read_tar(source("")), DataLossError);
  EXPECT_THROW(read_tar(source(sound.substr(0, 513))), DataLossError);
  for (size_t i : {0, 130, 150, 300}) {
    std::string changed = sound;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_THROW(read_tar(source(changed)), DataLossError) << i;
  }
  for (const char* record : {"x", "99 path=a\n", "3", "0 path=a\n", "12 path=a/b", "-5 path=a\n", "13 size=1e9\n", "9"})
    EXPECT_THROW(read_tar(source(member("pax", record, 'x') + sound)), DataLossError) << record;
}

class ExtractTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "extract_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& bytes) {
    std::ofstream(folder_ / "archive", std::ios::binary) << bytes;
    return folder_ / "archive";
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / "out" / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string out() const { return folder_ / "out"; }

  fs::path folder_;
};

TEST_F(ExtractTest, UnpacksTar) {
  std::string archive = member("a/", "", '5') + member("a/b.txt", "abc") + member("c/d", "") + tar_end;
  EXPECT_TRUE(extract_archive(write(archive), out()));
  EXPECT_EQ(read("a/b.txt"), "abc");
  EXPECT_TRUE(fs::exists(folder_ / "out" / "c" / "d"));
  EXPECT_TRUE(extract_archive(write(gzip(archive)), out() + "2", ArchiveFormat::tar));
  EXPECT_FALSE(extract_archive(write(archive), out(), ArchiveFormat::zip));
  EXPECT_FALSE(extract_archive(write("no archive"), out()));
  EXPECT_FALSE(extract_archive(write(gzip("no archive")), out()));
}

TEST_F(ExtractTest, StaysInItsFolder) {
  for (const char* name : {"../evil", "a/../../evil", "/evil", "..", ""}) {
    EXPECT_THROW(extract_archive(write(member("good", "1") + member(name, "2") + tar_end), out()), InvalidArgumentError)
        << name;
    EXPECT_FALSE(fs::exists(folder_ / "evil"));
    EXPECT_FALSE(fs::exists(folder_ / "out" / "good")) << "nothing is written before all names are known";
  }
  // Links are left out, and those that are there already are not followed.
  EXPECT_TRUE(extract_archive(write(member("link", "", '2') + member("file", "1") + tar_end), out()));
  EXPECT_FALSE(fs::exists(folder_ / "out" / "link"));
  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "out" / "way");
  EXPECT_THROW(extract_archive(write(member("way/evil", "1") + tar_end), out()), InvalidArgumentError);
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(ExtractTest, UnpacksZip) {
  std::string path = folder_ / "two.zip";
  ZipWriter zip(path);
  for (const char* name : {"a.txt", "b/c.txt"}) {
    zip.begin_entry(name, 3, true);
    zip.write(bytes_of("abc"));
    zip.end_entry();
  }
  zip.finish();
  EXPECT_TRUE(extract_archive(path, out()));
  EXPECT_EQ(read("b/c.txt"), "abc");
}

}  // namespace
}  // namespace thalweg::io
